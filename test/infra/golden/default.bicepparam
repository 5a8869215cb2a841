using '../../../infra/main.bicep'

param environmentName = 'golden'
param location = 'westeurope'
param principalId = '11111111-1111-1111-1111-111111111111'
