// Package record predicts named records with models that mkl fit wrote. Such a model file holds how the columns of its
// training table became features: which texts became columns of 0 and 1, how dates are written, what stands in for
// missing values. [Open] reads the model and this plan, and [Predictor.Predict] takes a record of raw values:
//
//	p, err := record.Open(file)
//	out, err := p.Predict(ctx, map[string]any{"carat": 0.7, "cut": "Ideal", "color": "E"})
//
// The predictions have the same bits as the predictions of mkl predict for a table with these cells.
package record
